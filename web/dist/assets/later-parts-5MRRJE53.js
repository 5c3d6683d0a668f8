import{a,b,c,d,e}from"./chunk-CWM3QLTO.js";import"./chunk-JZT6Y6B7.js";import"./chunk-JL3OJ3GE.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
