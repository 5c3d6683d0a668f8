import{a}from"./chunk-GMNXVQLW.js";import"./chunk-RB3SQ77R.js";import"./chunk-WAR57XJT.js";import"./chunk-7ZV4EAVY.js";export{a as default};
