"""The bases: how θ moves. To add one, write its file and give it a line in `BASES`."""

from llr.bases import adagrad, isg, momentum, saga, sg, svrg
from llr.bases.base import Base

__all__ = ["BASES", "Base"]

BASES: dict[str, Base] = {
    "sg": sg.BASE,
    "svrg": svrg.BASE,
    "isg": isg.BASE,
    "adagrad": adagrad.BASE,
    "momentum": momentum.BASE,
    "saga": saga.BASE,
}
