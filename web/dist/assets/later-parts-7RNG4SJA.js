import{a,b,c,d,e}from"./chunk-YPTPRHGF.js";import"./chunk-I6AHSFM5.js";import"./chunk-3WEPB42I.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
