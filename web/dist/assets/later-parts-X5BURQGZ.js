import{a,b,c,d,e}from"./chunk-NLHUN367.js";import"./chunk-KNF3Y47Y.js";import"./chunk-3W4VBDFO.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
