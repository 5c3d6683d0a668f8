import{c as a}from"./chunk-U35SQ4VL.js";import"./chunk-LYOXDWHT.js";import"./chunk-Q5SL3NX4.js";import"./chunk-TDVNEJ3T.js";export{a as default};
