import{a,b,c,d,e}from"./chunk-HKNHM5QA.js";import"./chunk-KILCXOOJ.js";import"./chunk-IQRIQFM2.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
