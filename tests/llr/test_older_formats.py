"""States packed in older formats go on as if they had been learnt in the present one."""

import base64
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llr
from llr.algorithms.algorithm import FLOOR

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

# what format 2 packed on the same samples, before there were weights
FORMAT_2 = {
    "gaussian": (
        "c-pm;Ye-XJ9L8rQDwvgNMUJqeX@t&O7TV>1>Vr|*l}M?y4%=xCPCItanJBf=E-MJaps=(HNOU2hWj8TtMr9XJn#;"
        "_JQmK`Nx@Ox-MS9Q9-oQhP`q2C3oagyJ&+q?!dUJBtr8GoLbtwZBik(C;&G9-`Ph>`?CPWjwx{%fw7+Qn$Hj3eC<"
        "f&QxHk}q3JBjVAhGx(op`{EwucPz?nrn31k(Gk}C`QY2I-yY11g}k^wBno=sAOa$tJ0AW3Vl*<U>Kx1TFcRbn5Ro"
        "9wIJr%A^}~97Z)0hB9-H)Qm;gpRSPU9{%=CJMJrSCy_cpKN^<AtdoOIz3tl<bI~FKG#|t{O)Dx{jq*<<1)G29*;x"
        "&1lUQPSZY57K@J)!z+d14Q2JT!0Os^wNFKC*gm)YluZ)^2_spZ^t<m1h^m54J$ny}Z=b!Tq4{o$%BJo3Bg{Bol|e"
        "Jia>L2BAKGyzd(z)6)6m>xYrp>CYG(S*o&IB-IIuKOTQ`f4&3$FJD3ap5OQ@Zwg7P;4aj|-|-t^bUv7TP*7fa+T3"
        "J`3CvxR)%+P^hwAD}+B-qn@u=<Lox2dy)ORTMcpLcR$a|yn6Uj5?JZOGq1?KIzvYUhpdfUfE-C8&R*SAb&UOHQ$A"
        "-iU`YQjgq9C;7tC4L0C=ETgyPckoBnjY+*w&_40m>Z0z6Eq%Zbh-_-6;`;txXt6-(G7TxIoQX1+#AiGMrNe<op7E"
        "vTdJ3u>ZT6&LcA*I{LCT`ELV(#SL>~?GV5GqZcsPiIp$y=@5Md5SK=#42OBh}<!U+PnoDe^7zZT22@O2x{tmnLm@"
        "a#MSRr+8_J)q^_aNVo`SKplOZ;duC(a#Lmwg|uxxN>%RZdu;)OYQ7jX-FXd+R#B71GU~$(628emU|U&P#lPEIT=="
        "Ybc6>8Q+?hRRlZW#k;|R`knytSbU^y(ia=7cei&YUHb5Ajyc%JeB2w&k0r|oh3=TAM=h0>1XB;!553W2!<s_IkW*"
        "^-@UEcez&&b+*gE_k@EminkN4sp-YfCr$eP-$Jgea#s0KFICMP+7TU*c(xew)@A6xaxZi88;%1i}|>>%Hd`SKplO"
        "Z?fS{JoREYxsTi$C3AN{$Kr{4b*6h"
    ),
    "bernoulli": (
        "c-r&v2{Qb>^W7aOMh1pzrLxqb;>`R!B`XCZ9R;Q0<c!pm(wx*3AU`cJr#KZTmYkoLmYEI|s8-6&Pf5)IvXqiii}L"
        "bIb8<43fC^GFbAe)pKvrT-dVW!6Nd}0oRGbcyOf5+?0P+m<Oo5z|3@A4bs29jDN=+|HEdeP`tw>BR0jbX~C;>XB7"
        "-U^-Ey&2CqQput7wFXFlKdhNI~wR#pnZn1U?(T$Btk^ZW5LcX%_{+OO~BG6i6xoEC7H=!A+U}NAV0sT63jOSnqmZ"
        "2mzkHG3N_j|wzl@uJk@t^GxqFffP(jyzy3MtJ%jQe*fZb&GIh(?&dVt}<Q`b3?(*sLejcbeFO+6P<3oUi1F81lm&"
        "Yak!5-awC?Br=!$NQK)iaJ@*pDubt`7<v(9M4);T-hs;}?51k;j%F8L!$OIJDZ|KKBBKIq2dreW><wV3_~3^FpPe"
        "45NeAfn_3Y9#8gHw#EKkyW}W_Iq2rY^r5O3z%V~*F`uS+47&p_lXJZC>R0<WO(?b&|GtxeIS75I>P0ZjU;5-nQEw"
        "BE!$q?xX1oq>_U~v6Y*C0ljA0JCI7}a^`4SlBKfV~E-@iw|Ve0=~a`sDK?q`@N_2}U46By>8i^KGx+AD)$e)#f}I"
        "y|q09YjQY&i|eIVgGsov#5n)hcV1SHy@@CRlNd+`2vrk71{rbIqYyc>Z4loaeskQcjOC;Jp{}_=tEVngkk=a&+GQ"
        "Q?v->{Ao(qBOZcb#$2;D~_(~qaFb7>6rVrJ86%6w`cZAm6<&|-Wh;w<c>cz+XU#*)fmA4+nFb7>6rVrI#H4O7JOq"
        "zGA>&ZKWeOdox>Xy&@Pq+o}YM(ubVGg?aFny@%H89LaFV9fRMO@|}^r5RKRvZ8|N<2R"
    ),
    "saga": (
        "c-r&v2{L^5(pplDk%6IFsVudqI5R&_$x6XUM?tALIU_ZtG$%C$$WKemDNY57CFkd*Wu^lKs+Dr{Q&Mw)ETx>xywt"
        "=ZC7^6dW-e53VorK~QD#X7h_6(fn4YMgm=02rT9Rl06f)2=Fa`2TGNAmt(wrP1zbG}mD76HnB|j|<q&&Z%1n8b(u"
        "ze+oNja%NmT_$@$bzDx#7c-nS!!}gei4WrZK9)KsH0#M3wC{CP9j9q2rQ7CUz%3}Q3aMSNi4}MF3C&=3mJffGJyR"
        "2qDm0o&=_cvDOg=*UUDkf6deVV*xK3|+mD?%boa9Ts((*hcTd>3pXZ2^<wB|B_V4#GED)NqcmIQvyTy6R*&JRNuP"
        "Um2bK71lZP%yNjc4{>Yd^X^w11;Lhf+V!<$9(A_04yV)JN{LfBWLOme<lP_OlK~82NL&w`YKY3DM^zRSya}Fra`B"
        "Q27T?`T~^xupg?x0lPXF|A+mLqnA`d-(Ip;Un*zttL?S@xi<L=9}_;=XEe-IPR-b~zvZ@tM^E38{S5c^%~jaEW<L"
        "+qU|uNAh{lJ3iI0n`oxZalm^BjwR@yTV0EE;LXU+%vfw7mt0lU2i>`~3hw1?20`*E3zUH*VQOh2k>4hMypS;;5Gc"
        "@8L^^HpCyVV?bjLtiywjGw^O?O7oI(c{4kd%qsNC-*<r?1!mCHy7Prm^tYBA^HRydKY|OEt<x0;I1WabCSaf`@D4"
        "_yO?MHhTA)D*Q9A#t2W!;;$w)oHoMgx-F@ihqML)RA7ZMAL&nmVr<^l54rB`7X*h1V!rp(8>t8J-dr$BPH5&&Uuv"
        "a_crXp0h$R4H+m$@)|VdkLghnOni;2P`mzh)BafoZR}`!+jov@hNj<-GX|!rtiogKM<s9kqXXJxA1c)f#(r_o17M"
        "ZVtMBh^aCT@@rSW-f@)az|T&8xdZh(>_zUKJ#e{?0bUMVi~O+vjMxeLJvQriFdW%H&|GwL(Dg%1RdASd=JwSKkC_"
        "heUwiB8qO!xDr)HPRmE)Xndn>1&W}lRK*8X7`*Hh>93+!R)(9MO(!|a8b1JjRcuad)d&G4do7g-KWYFJy_|9z8v<"
        "J7`;xA$|w?Txw{`Z)Q{S^GJ6m+zk*Teu&l4&7XsJj`7%b71;m?t+-A;*fm#-v7IWEC+;TE4rsW*laI-o>BiUCpX;"
        "QyDz%!B>c|W7cJ{{6meU*AKiWE^62KEyBlJvn!}mJOFyjCW<D^}J8ib9|91Oj-?~Eet@+^gF1=TJ%;v*s`_kv<r3"
        "Ef*#V{9L9^D*tcR@_ma6qqj(CZiUdJWxNbbHawLDx^IJOK9NGxY"
    ),
    "auto": (
        "c-rk)YfMvT7%q2ZU@#&xqOLo^xiE&6;pl|%)-57iF*<<_gD4eRTT@$Y3n~?76c%($Fo+Iy2wsBR!I`lF^K@JVbTT"
        "ZK+YssoODRK&APkV5UcN3n4mI1KW$BZXyx)6!p7%RBY0vqBf;O*mXtBDy*n&clVzF$Im?soqYp7lxR7@PjWk<*G+"
        "0lg0Ve!RmA{HeSaCke3fE3#;jArwR6~^ZY*enr7WTSbzjlC@XPN9e=;p%*h6(bSq(rgKfM))*O8f_KfO1Q>=AcoH"
        ";d=Y!6h%M1I2ss>Gy>O3&m`1Eqi;vflibSjfdY70qN+J~L*5PyyD#7Lzp`Vz=XBnd2^wkmid1C|;LqK03VM%ym2`"
        "@??qUl0h!WW7T=zJf7N#7;r38L7#2(cCKi1>I7R(B10lkmLA-q*aD-vQR{VfT}N3gl_ST@~xIAatm^S#{wkB>mzZ"
        "Xzg4CoRAZN1;uhGrsiw+4mH9ucWy#uTq!JQIhD{cRR*DY3`2<C*20qdy~Nc6db6Y-+_hVLzQkrAcE<|h8UvOzt7?"
        "J6Fh06<>D+k7dvKegIY?1ugU0HkbpN_RpcsK4WRJvoPnvuK7BRlHPw6PX-32{b1xNizOUjQM{c+r2=P(S`iJ|UwT"
        "zQp01b)hjchd7K@Z7Rdm;MfGIh{7t6c%JFM+`US$3)21cENSu)_Ego7eRBGNqJy%0X|L6ciJVr56VXs(Whi;sCR$"
        ";#Fio%(5f>RS<j>a^uTm%cMn9~n7MxD3l-$)p#n5_O3OXRb<BtOooz$R$fE;zcYFU8xv!;3w+`D!m1NZ5=NhkC2C"
        "L-YV3XSB)=&+R7rcDmbGrm**HLRSwksj$NtZ3wcNZ@5^11^pI!u=G3>;4ITx(eM80#LA>i@hyD1SCX2N_76i`MtX"
        "B^cwF;eH<8Xs~TZ7;cWAT`4Vj4E`Lu6$77)!N+f_W#RT?5PakI{S%p140@j}Z~4+GSd-&Zp8fgwY;!V@F8O(?(Bp"
        "y84$RVz_Jj7<jP`+(`TtqH8D^Mah8bp<@!tjc{f7L$(PREUH^Yqo5kijmEx#G80%^+W>-~pvV0DhCb#3QO(4L}ho"
        "U5&YD(8s;*PtKa{FF^%2lGDsCg18yQ>Ipa_41B*#v6f^O>KwP7bg$m4WVy!&C685gx#GsDd&59Wx%dwkg0_I?{4R"
        "50&3ys)PnJ2TNEJjwcS>DW(<_m4KlaW>6M&KoI%@#=lrTFxCzayVSM3Z-o>z76*v?LYFzA_@N8ybtE{yXM*XWS?*"
        "`XGr^U(huaqgEs7|9wkDh}4&7*ZAuVz(>1S=IEIGwJ1zpEltUOJ518uw>sv=$^EA!{Zj<9N2Kd@6UiWy6k5&;5OS"
        "UfqlFkiUx_{%hSA<YD}Mz1-ASU(o#K$tR6?o!*w?WZq}z<+JF|VZ3Bj7^hC_h5VqfU*o=+1a<PQ^SA8Prut(gLkX"
        "_63gCXdbl#ofhNpOuF3OX6Q2$@&a$?vG_f1S&_d(=YdUET%8Q8P=KvlJH%%q!G{zJYCGY{CCCP(%;oO^0Mlt;Q`9"
        ";A!<4Xn-#E5$Y?y;Fl<O4<O46YW41Rcq{$emCjT7ngWo*fp>T$otTHemS5z#7mwF=^`F-KRPENpAV7Gfyn1qs1EU"
        ">Jb5m}gLKLLC_fwjZ23O`<aP|O"
    ),
}


def opened(text: str, version: int = 1) -> bytes:
    data = zlib.decompress(base64.b85decode(text))
    assert f'"version": {version}'.encode() in data
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


LEARNERS: dict[str, Callable[[], llr.Learner]] = {
    "gaussian": lambda: llr.Learner("gaussian", None, "sg/ag", 0.5, regret="exact"),
    "bernoulli": lambda: llr.Learner("bernoulli", None, "sg", 0.5, regret="exact"),
    "saga": lambda: llr.Learner("linear", 2, "saga/ag", 0.05, table=3),
    "auto": lambda: llr.Learner("linear", 2),
}


@pytest.mark.parametrize("name", FORMAT_2)
def test_a_state_from_before_weights_has_weights_of_1(name: str) -> None:
    samples: dict[str, tuple[Any, ...]] = {
        "gaussian": (Y,),
        "bernoulli": (1.0 * (Y > 0.7),),
        "saga": (X, Y),
        "auto": (X[:6], Y[:6]),
    }
    old, new = llr.Learner.unpack(opened(FORMAT_2[name], 2)), LEARNERS[name]()
    assert new.learn(*samples[name])
    for w in (1.0, 0.0, 2.5):
        assert old.learn(*samples[name], w=w)
        assert new.learn(*samples[name], w=w)
    np.testing.assert_allclose(old.theta, new.theta, rtol=1e-9)
    assert old.loss.total == pytest.approx(new.loss.total, rel=1e-9)
    if new.regret.ml is not None:
        assert old.regret == pytest.approx(new.regret, rel=1e-9)
    assert llr.Learner.unpack(old.pack()).pack() == old.pack()
