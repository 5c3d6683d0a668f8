import{a,b,c}from"./chunk-VP4XWADV.js";import"./chunk-SWV4NUXH.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
