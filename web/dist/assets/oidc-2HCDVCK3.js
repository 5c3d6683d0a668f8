import{a,b,c}from"./chunk-TQCKBFII.js";import"./chunk-IQRIQFM2.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
