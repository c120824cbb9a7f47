"""Which number a batch has, so that it can be sent again without fear.

A handle counts the samples the service acknowledged. A batch whose fate is not known, because
nobody answered, keeps its number: the same batch again is the same samples again. Before any other
batch the service is asked how far it came.
"""

import secrets

from llr_client.samples import Batch


class Numbering:
    """The numbers of one producer's samples.

    Attributes:
        producer: its name.
        acked: samples the service is known to have; None while it has to be asked.
    """

    def __init__(self, producer: str | None) -> None:
        self.producer = producer or secrets.token_urlsafe(9)
        self.acked: int | None = None if producer else 0
        self._doubtful: Batch | None = None
        self._number = 0

    def known(self, batch: Batch) -> int | None:
        """The number of this batch; None if the service has to be asked first."""
        if self._doubtful is None:
            return self.acked
        return self._number if batch == self._doubtful else None

    def sending(self, batch: Batch, number: int) -> bool:
        """A batch goes out: until it is answered nobody knows. True if it was sent before."""
        again = self._doubtful is not None and batch == self._doubtful
        self._doubtful, self._number = batch, number
        return again

    def answered(self, acked: int | None) -> None:
        """All is known again, or, with None, has to be asked for."""
        self._doubtful, self.acked = None, acked
