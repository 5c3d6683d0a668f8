<<<<<<<< HEAD:web/dist/assets/oidc-YBJ3BQNG.js
import{a,b,c}from"./chunk-FPM4GGCY.js";import"./chunk-BUPFAJUS.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
========
import{a,b,c}from"./chunk-QPAO3ZHV.js";import"./chunk-W4TGEUMC.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
>>>>>>>> page-app:web/dist/assets/oidc-YACJ4PD4.js
