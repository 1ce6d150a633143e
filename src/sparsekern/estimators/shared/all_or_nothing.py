"""A fit that fails leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class AllOrNothing:
    """For estimators whose ``fit`` sets attributes one after the other."""

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was if the block is left by an exception."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            after = dict(self.__dict__)
            self.__dict__.clear()
            self.__dict__.update(before)
            # what scikit-learn needs to take its callbacks down stays
            kept = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
            self.__dict__.update({name: after[name] for name in kept if name in after})
            raise
