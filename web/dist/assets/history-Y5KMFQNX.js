import{e as a}from"./chunk-KGV7OIN7.js";import"./chunk-XEWCXFZH.js";import"./chunk-FUKLBX7S.js";import"./chunk-2T34CYF5.js";export{a as default};
