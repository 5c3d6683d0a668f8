import{a,b,c,d,e}from"./chunk-EVJD2ZC5.js";import"./chunk-WAIDLTBR.js";import"./chunk-EBLFIQHL.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
