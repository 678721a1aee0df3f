"use strict";
// Before anything is shown: scripts run, so what needs them may be there.
document.documentElement.classList.add("scripted");
