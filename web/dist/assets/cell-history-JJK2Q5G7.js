import{c as a}from"./chunk-I7HFKDNJ.js";import"./chunk-OZB4HMMD.js";import"./chunk-TIRQL3BI.js";import"./chunk-3VPQWJAA.js";export{a as default};
