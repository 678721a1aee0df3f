"""Every page, one module per subject. A new page is one line here."""

from memaudit.lab.explorer.pages.certificates import CERTIFICATE as PROOFS_CERTIFICATE
from memaudit.lab.explorer.pages.certificates import CERTIFICATE_PAGE, PROOFS_PAGE
from memaudit.lab.explorer.pages.certificates import PACKAGE as PROOFS_PACKAGE
from memaudit.lab.explorer.pages.diagnosis import (
    DIAGNOSIS_PAGE,
    QUESTION_PAGE,
    QUESTIONS_NEXT,
    QUESTIONS_PAGE,
)
from memaudit.lab.explorer.pages.index import INDEX_PAGE, REPORT_PAGE
from memaudit.lab.explorer.pages.package import (
    COVERAGE_PAGE,
    PACKAGE_DATA,
    PACKAGE_PAGE,
    STORES_PAGE,
    STREAM_PAGE,
)
from memaudit.lab.explorer.pages.query import QUERY_PAGE
from memaudit.lab.explorer.pages.run import RUN_PACKAGES_PAGE, RUN_PAGE
from memaudit.lab.explorer.pages.scores import SCORE_PAGE, SCORES_PAGES
from memaudit.lab.explorer.pages.search import SEARCH_PAGE
from memaudit.lab.explorer.pages.store import STORE_PAGES
from memaudit.lab.explorer.site import JsonEndpoint, Page

PAGES: tuple[Page, ...] = (
    INDEX_PAGE,
    SEARCH_PAGE,
    RUN_PAGE,
    RUN_PACKAGES_PAGE,
    PACKAGE_PAGE,
    STREAM_PAGE,
    COVERAGE_PAGE,
    STORES_PAGE,
    PROOFS_PAGE,
    PROOFS_CERTIFICATE,
    PROOFS_PACKAGE,
    QUERY_PAGE,
    CERTIFICATE_PAGE,
    *STORE_PAGES,
    *SCORES_PAGES,
    SCORE_PAGE,
    DIAGNOSIS_PAGE,
    QUESTIONS_PAGE,
    QUESTIONS_NEXT,
    QUESTION_PAGE,
    REPORT_PAGE,
)

DATA: tuple[JsonEndpoint, ...] = PACKAGE_DATA
