import{e as o,h as r,hb as t,l as e,v as m}from"./chunk-OLUOAWQZ.js";o();var p=document.getElementById("app");if(p===null)throw new Error("the page has no element #app");r();e(m(t,{}),p);
