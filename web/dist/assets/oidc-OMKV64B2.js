import{a,b,c}from"./chunk-IL7KVSGN.js";import"./chunk-3W4VBDFO.js";export{b as finishLogin,c as refreshCredentials,a as startLogin};
