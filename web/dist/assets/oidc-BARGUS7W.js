import{a,b,c}from"./chunk-55POVWNS.js";import"./chunk-OLUOAWQZ.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
