import{a,b,c,d,e}from"./chunk-7TWZ24GT.js";import"./chunk-LAGDAKBE.js";import"./chunk-SCSJGXRV.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
