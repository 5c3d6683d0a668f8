<<<<<<<< HEAD:web/dist/assets/oidc-QGHGMH2P.js
import{a,b,c}from"./chunk-OPOTHYBF.js";import"./chunk-6UEC3PVO.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
========
import{a,b,c}from"./chunk-4JK4XWUI.js";import"./chunk-K4F3ZD7W.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
>>>>>>>> page-sizes:web/dist/assets/oidc-OHPIMD2W.js
