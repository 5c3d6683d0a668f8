import{a,b,c}from"./chunk-CMVF7RXZ.js";import"./chunk-FJAMVAZ5.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
