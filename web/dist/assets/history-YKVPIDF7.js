import{e as a}from"./chunk-A6YODXW5.js";import"./chunk-2O2GZEVY.js";import"./chunk-GVTCMRSH.js";import"./chunk-3W4VBDFO.js";export{a as default};
