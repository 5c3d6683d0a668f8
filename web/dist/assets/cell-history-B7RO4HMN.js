import{c as a}from"./chunk-O4PNXLN6.js";import"./chunk-GCKJOACJ.js";import"./chunk-FAPH6CRI.js";import"./chunk-BUPFAJUS.js";export{a as default};
