"""The bases: how θ moves. To add one, write its file and give it a line in `BASES`."""

from llr.bases import sg, svrg
from llr.bases.base import Base

__all__ = ["BASES", "Base"]

BASES: dict[str, Base] = {
    "sg": sg.BASE,
    "svrg": svrg.BASE,
}
