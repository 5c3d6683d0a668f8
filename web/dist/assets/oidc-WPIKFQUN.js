import{a,b,c}from"./chunk-WBECDY7Y.js";import"./chunk-HV64ORC3.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
