import{a,b,c}from"./chunk-OPOTHYBF.js";import"./chunk-6UEC3PVO.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
