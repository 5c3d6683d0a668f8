import{a,b,c,d,e}from"./chunk-YCJN77OU.js";import"./chunk-G6HMQJOG.js";import"./chunk-GTOTQ4W7.js";export{d as LATER_STYLE,b as createParts,a as explain,c as fillInputs,e as summaryText};
