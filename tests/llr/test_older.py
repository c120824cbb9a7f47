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
    "c-r&v2{PPL*N`I0$iPsoRF+y)oSC1eWTjxJqo7oroROMRnv<FW<fkR(6sH2klJoP@GSh(q)k?YfDXBR?mQqe;UTR{I"
    "5>PfJGZ!de1Y{-Vq~{l9mSlkVO2z5=iRmEu)RII4pn!p%fhmwzk^$xCmFDCC`9-PeMX4nq4f$zlAm#Z5B|z5{Lu^aU"
    "%`d71GE0g|Q)_EMRumN_Rzf7pQj<&ai$LsX6CIG-jbg#>Ps~Y#h?>WO-Cmkk0#O8(E=erOEH24R1`8R0gff79h%M2E"
    "#ySe-v9-1Hw@cix`n<z_$pVA<&z+m>dE5WF*UejQ&;Hd|b0t@y{oB@AH$r7!**|z+D*NI50eeT+)hbWd{;-z{TadOa"
    "=&6036{mEaBh!Hi<?462m3G-XFJUiR_s`LO*1-rPe~$O|LSb?LO-rR67`ZzaHmnkMV1NQ1D9sC{8PWJKF!6D5wbOU@"
    "1G8p=z)E`tqQD1x^7Jt{VApp5uHRzeSDr&bsrC@Mbw5Ou!$BctR`N-4o&$>KeASmvm}g%b&HVnL))TnCeQv7@lMYU`"
    "=P31fzVB`zRG)yuQj7DkjL{qiSew5*;ZIs&AM;l8snGP_aDD05c4THhTx@@D-7e0`?s}-Wh{N6Pex7Sl90y7xgx*dD"
    ">f12af>9Jn-&yN7ZigQ%wwGh_ORil2(<kB3q0ijR=D~L0h-kn5^qK4JliY5t(*FJju5ZO>OF4-pE9{RHI3>IY>x7ES"
    "IPBuJFp{@tIZ$uBuGv0ei~WbXQ~vS%Oz`;Bi2dy~>-swTM++ate7iRZs!zeez&Wh5=se4TQ-|k?`~BTyU(KR)bhjio"
    "T%U^8vwEMB4fY1^*Eg~5NP_B9axl)E7*`j_dZ6sZnI^MK8|`Nmc5pdsBlJyiUZ%Nw?RtBSW?yE#LxE6zDh|Ry3LDpK"
    "WjWA4^Pv4btIhUy8?3j4y+`QV`*x3`{hbZ=`x=}t7@B87^{F|qxCfn`W6g5lLF)Q-hM8OJ{de*FmAb-@NUvvKTKnW~"
    "v=0^*TfB66IW+z>9MIE0dOAnXUjXa{XCD"
)
NAMED = (
    "c-r&v3G&<Sxao))BLhRVQdw$Iab|v=l9hs?j)GEgaz<)OX-;Yike`;AQ=AGEOU}<r%S;CfR4e7?r=;cpSxPyXd8vs-"
    "N<i6^%v_*AUTIDakdv5`o?nz%k^vG@Do)o=Ob01RElD&03K-}am;!kv8Bjh{Pf==mQECZDLw;HsNO^ui3D7~sAPZ}O"
    "+}y;9__Wl-lG377keHzX2mr-15{on9lQK)df)*f^d5O7TCDBTWAajzGVnI$SDoU&b8wT`9PH8UK;AkTq1t2nv1$#L$"
    "C$R`DY90&rZfPFa&}b77HzTvSB)_N<#5Xk7Q82TNt*t%$vu-}a(M$H?_V>Qr%|2sqrhdmIZQfb?@CmCPegAaC-qtJ2"
    "eeZ@h`*SnIe~8Q6vY&CE^+)im#rCrfMi}{Xytik7g0s&uFW++Ec7XADpfoR(W<=w|z{JPJ)lT2p56qeg0xRtqM!_h+"
    "03Yl})5$0x0ytn#CkNo^#bV)Co<l*U_7J*tG#!mdz~R7@?K^q*HRc0NSwf7gg<I`?4W66wH$H}^hZn#8I2!lQx1Vh|"
    "_tD3~MWg9tL;?YanuO}AOi6|V0damGe@P#--*<BJex|EG;pyST$%jI%yu0kLdrgo%8M1XWos38z;;<{mN_&bo!-2_4"
    "Ci(w19<UEg@_%9V7&D!SBnqF1+P`Hqos38z;m{!TF^JLi-~N*>8@KEG9=4zCb1Y^3k6-ZgurJVjxp>5GdxpY&AL>K4"
    "kEW9m31l2D?Mw}god0wG62oHu@^dHc`4v7E3-L3+``1lg)}<>M4%)kJ`D?uU@7~dLG9rP3gYXWmXO&G~_Pa+0IK4S^"
    "(Y}Ryv*OH^tnhT=7*TodmEtLTpU0Q9I7N?+rjro~lpOvT$urbn|FZwQ#YKsh)Qk3qyRu6Yj$)>hy@nMP6N8V8rjro~"
    "R2-rrtG>@v__AL_sj%yz!6kcb?&PGm{}Jg#PTIzUW92FPitT^1&m@kPCnFQ6IczpKW47hW$Nf@__Wu|BzheJ#>sqPC"
    "es*{|>D(Fo^zodt_K!nFIah?97)>W55@<M}&mW=B6T#-6VDnC+VK%Y=0CU@K+W"
)
LOST = (
    "c-r&v2{QB)mp{kB$iPsoRF+y)oSC1eWTjxJqo7oroROMRnv<FW<fkR(6sH2klJoP@GSh(q)k?YfDXBR?mQqe;UTR{I"
    "5>PfJGZ(5iF(*C0D6=F3#8)a#*Dp>7$)}bi8UO_h^b8CPK&nbIpdyBP20(66YI;#>2}nnNS{g`wenAP)ImICBYHLBJ"
    "78NB{g1JDaCYR(Ff!NVTIv^_zW5G^N%t?fZn#Y2jTbfq_=9++|OA<>mi%T+-!9oTgp$s5Dzo-(#H#F8!FpI6N)xG?m"
    "Ay#?k0Whty^FW}o!0d<p_J<h=fJrB}mvLH$IK%inP?{G?GotZfKs0pg?v2?>2XvifUOzIEvd3=v2YVQeO?}Jtc1M^>"
    "nERnz2LnZurHh&+;O_6aI$K0FSJoN3dJYGvYi_@*(^L`azbxfb&DF)BUcez)hbw|<zYbiz=Ks2rw*}2`s26dl(mrzk"
    "MyVlOJrB!jZq-~{9O@+;Son`wO;$32tFLHzt!AF$ghRcIL%hd@?fV+c;ObwsF`l?B=!QeRf<wc{{PPlvEa2*6I>j>^"
    "_Iu(`ujFu1WuxJ<Nmg+6=el*dRC9fCs8?|izq9Ayzi1n{dWGW)ucq_{;83sTa7N54`6sg-Tz%vT9iV@MaH!XCKu@3O"
    "=@6zK013A7-~"
)


def opened(text: str) -> bytes:
    data = zlib.decompress(base64.b85decode(text))
    assert b'"version": 1' in data
    return data


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


def test_the_ranges_of_an_old_past_are_those_of_its_points() -> None:
    past = llr.Learner.unpack(opened(DENSE)).history
    assert past.t.tolist() == [*range(13)]
    np.testing.assert_array_equal(past.theta_low[1:], np.minimum(past.theta[1:], past.theta[:-1]))
    np.testing.assert_array_equal(past.loss_high, past.loss)


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
