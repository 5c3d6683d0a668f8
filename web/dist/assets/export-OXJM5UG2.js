import{b as a}from"./chunk-GLWFXXUS.js";import"./chunk-GWFZCVXT.js";import"./chunk-MTUINMJC.js";import"./chunk-6UEC3PVO.js";export{a as default};
