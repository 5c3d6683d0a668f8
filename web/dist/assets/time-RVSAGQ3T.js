import{d as a}from"./chunk-JNMFLIZT.js";import"./chunk-5ATG5NT7.js";import"./chunk-OLUOAWQZ.js";export{a as default};
