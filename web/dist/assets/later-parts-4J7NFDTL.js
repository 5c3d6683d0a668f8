import{a,b,c,d,e}from"./chunk-3I5PKLS7.js";import"./chunk-L4GSS33D.js";import"./chunk-BB4A66IU.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
