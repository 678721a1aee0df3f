"""Who says what an exported memory covers. Judges see texts, never the system or the answer."""
