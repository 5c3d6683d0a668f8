import{a,b,c}from"./chunk-QPAO3ZHV.js";import"./chunk-W4TGEUMC.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
