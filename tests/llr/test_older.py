"""States packed in format 1 go on as if they had been learnt in the present one."""

import base64
import zlib

import numpy as np
import pytest

import llr
from llr.rates.rate import FLOOR

X = np.array([[1.0, 0.5], [0.25, -1.0], [2.0, 1.0]] * 5)[:12]
Y = np.arange(12) % 4 * 0.5

# what format 1 packed: linear sg/ag with memory on X and Y; named sg/ag on Y; linear sg/sg whose
# log eta had fallen to -9e15 on the quadratic
DENSE = (
    "c-r&v2{Qa-(r`_bk%6IFsVudqI5R&_$x6XUM?tALIU_ZtG$%C$$WKemDNY57CFkd*Wu^lKs+Dr{Q&Mw)ETx>xywt=Z"
    "C7^6dW-e53VorK~QD#X7h_6(fuAi6=l20v3Gyn=1=oy#-c_kT8eqL!#4v=4znqHJz0@9G5mIhLuUr+*cO)<o_)ZF}{"
    "N+7eOs5G^<7Gy<HQDP-TvMe>ZB)<s6jyBOzFw{{niUqqrF((lsY90%Adud(?L=jlJB(Ws3xFj<fEMx!@$^h~qwnQ5m"
    ">nNDV*4ED3E^))^^A7vP3k>EzcW$!hZvW?AH*dK;`&VPlm0X4PZ(C>G2$g+h|KNS8?1%FQ?BjawJYnW}W3SM;;bYLz"
    "C-(JLoYHlUOb2?))$ejE?XvHVu>LCdf4cpwgAqpl9PjOg!{Yv%mP$J?a(6ClSS9Sh00lfynionlqVZv1;^X3Kr|;|s"
    "X3YeFmG%rofe-fN>0@xfuI~U`zs16@Jcoi(?ICpQeuyZCgF?)#<dfn&2NciwsxO}~&%QRA`TaqyCvbiH+*TJR9h_><"
    "QR?x0-`zl{J^_cN7UyFbqd5++Hh+1-pR~e0=B?&aq3OTj`qHoM$jpAY*#6$SU7VHO^-ysUhr8YVJlCQ)4wOa+y`2oy"
    "w_&aYqbQQTv(|6i4nJ6IFURDUT)P0KPr{)?pShXMgYCc((SH5uGuPWEx!qc&{rwMI--^$cauQ2c*dHlyN_Y|02^E)d"
    "*u`sMByZ1hpx$_0vwgxA`ww-e{NwqV;PI&u``c^Q^>y}-7Cwskc5f0?pMrydb6985d6omG4$l+!`@6}$nnmg8Zb@#q"
    "J{7HJ^*$vV><!$nZ(`k%1l6bHV4OKIt}c-EK-r5kO=g!i+RrNN;BwYR=$qoaOmp|z_4XRgzRY@u0-^d;97KW?Hm=#q"
    "a-etSLHm1Fo9*p3SZ@h?kI=X0?H)(_I~(lxG&o-{G|z<UQ*&T-4>~)?n&rT~)b;BOGq>3L@8bC@b%h_UkNfOPYoFYW"
    "_5s3Ti<d4hhsK|V1A6*LPv_|Q3jk_oXrc"
)
NAMED = (
    "c-r&v3G%ync}uhzBLhRVQdw$Iab|v=l9hsyj)GEgaz<)OX-;Yike`;AQ=AGEOU}<r%S;CfR4e7?r=;cpSxPyXd8vs-"
    "N<i6^%v_*AUTIDakdv5`o?nz%k^vG@Do)o=Ob01RElD&03K-}am;!kv8Bjh{Pf==mQECZDLw;HsNO^ui3D7~sAPZ}O"
    "+}y;9__Wl-lG377keHzX2mr-15{on9lQK)df)*f^d5O7TCDBTWAajzGVnI$SDoU&b8wT`9PH8UK;Ao&<fygix?B&Fq"
    "#3Hb$c`VqwrFmdOqfJ2EjLhPa{Gv(_-_Te`!OSwYw)XJPy7>%8FWHOR-}`bm`;5Jr`W=_Fd1vjzC#-t({nHV9Tdyql"
    "y&K-_&&?43Aue;vK11QZ%nt68_OlK~82NL&w`YKYv(GXw-*Vx0fbn^tG%u89MB~H2#K*<ePT$!N%$f-TEA1IZ!6?80"
    "AM8id$tWNKIABjF2jJ<&V&PYwLqVnX5W00V9gRr9;lPybJ9+mt<^xSxLX511TkU-fo}2PFK8B}<7r*{E8u!n)pKUnz"
    "(Z|9?qv>Qs0s)7bgzBnHNrnRfaeg0vNguS|cXIQ7rmH{U>EXo5heEBqyX>!fO^`hqvUN0_j7T8juq(z&dx|&1fyqiH"
    "`TsT^un$b~e_{0)Go6Se3ZIDDzhyL?j7T8i&>-|Nh|%@m{*x{nx9j^Jwx8^CEM@(VU-0y>FVK9sc*JgdhQfUx>O;1V"
    "rjro~WE?K-Obv~k|8xHm!(#vPb0_Wj6+RXV@iV~t*G*p5r7IZ@+PiM~YrOmK-qCb2B7uT~@D8nKl}%svyGI5%y*YHz"
    "zJ+_U;>?w-@O0uBQF-o_;wgKd$CtD?MURfAlMxA&9R3)|Gt^)Ivj4orMTwTwi}r`RvP%<=Vy2V5h7}bPgO7}+lMxA2"
    "9HJttzRy(nvR_20u<N10C3|h|<fOO%5$Qxu+Qx%p<th7$?SHe+B#xFRBNM1OY&JM!w&lvl{Zfqf{}=qfV*hgMTB*i<"
    "c6d7J+!_4z@tm{vk3&T{SA?DzO(!D~XgHwHAED0^!RDV}^G>5-HnIQ!_K|N?"
)
LOST = (
    "c-r&v2{IJTzst$N$iPsoRF+y)oSC1eWTjxFqo7oroROMRnv<FW<fkR(6sH2klJoP@GSh(q)k?YfDXBR?mQqe;UTR{I"
    "5>PfJGZ!de2xKMZq~{l9mSlkVO2z5=#pxjV)RII4pn!p%fq?-?RY?X^#8A%w$Sq1uFG?)|>Bvt@1F6q1C;>XB7-U^-"
    "Ey&cOqQput7wFXFlKdhNI~wR#pkaowU?(T$Btk^ZW5LcX%_{+OO~BG6i6xoEC7H=!Ap?+529Td$R0-l68tW*S#n#s9"
    "UjEMztGx37m{!?&;L@I|yV}Za2Wl8VK!5=km~?V`8K-rKGmOszrFo$=BN`tDL_@dk-k7a)K-XF3^&>MWd+ervu!qsu"
    ")VEx3cZ8{gxgW}PKzD!7)!8Ddxw6jK)pKB~|FV=%HCGphdI1den*Zxg-WD{&p<V<-JrB!jZq-~{9O@-7)K|2;Rx?j="
    "!l7OUL;b5Z#uK*%-EgQ^z)&C4DW2J|-xG&=B@FfFx^=l!bA55BSHV!PaD3s_l->Xw>eVpRN1o6D`ZoxNdJPQq=;;uq"
    "9sobM0I>"
)


def opened(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def test_n_and_the_variance_are_what_they_would_be_now() -> None:
    old = llr.Learner.unpack(opened(DENSE))
    new = llr.Learner("linear", 2, "sg/ag", 0.05, memory=True)
    assert new.learn(X, Y)
    for _ in range(5):
        assert old.learn(X, Y)
        assert new.learn(X, Y)
    assert old.log_eta == pytest.approx(new.log_eta, rel=1e-9)
    np.testing.assert_allclose(old.theta, new.theta, rtol=1e-9)
    assert llr.Learner.unpack(old.pack()).pack() == old.pack()


def test_named_features_go_on_too() -> None:
    samples = [{"a": float(y), "b": 1.0} for y in Y]
    old = llr.NamedLearner.unpack(opened(NAMED))
    new = llr.NamedLearner("linear", algorithm="sg/ag", eta0=0.05)
    assert new.learn(samples, Y)
    assert old.learn(samples, Y)
    assert new.learn(samples, Y)
    assert old.log_eta == pytest.approx(new.log_eta, rel=1e-9)


def test_a_step_size_of_0_is_brought_to_its_floor() -> None:
    old = llr.Learner.unpack(opened(LOST))
    assert old.log_eta == FLOOR
    assert old.eta > 0.0
    assert old.eta_status.state == "vanished"
