import{f as a}from"./chunk-4QAO57KT.js";import"./chunk-QUIHJVOE.js";import"./chunk-KP4BRIVF.js";import"./chunk-BB4A66IU.js";export{a as default};
