import{d as a}from"./chunk-IROMBPNM.js";import"./chunk-ATP6OBQT.js";import"./chunk-XEJTYW2R.js";export{a as default};
