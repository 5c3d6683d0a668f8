import{a,b,c}from"./chunk-Q6LBDW2G.js";import"./chunk-H6CBYABL.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
