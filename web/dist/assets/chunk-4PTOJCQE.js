import{a as S,c as i,d as u,e as w,f as c,h as m,i as C,l as t}from"./chunk-XID5MJSD.js";import{m as z,x as T,y as P,z as g}from"./chunk-H6CBYABL.js";function O(e,n){let[a,r]=i({value:null,error:null,isLoading:!0}),[s,f]=i(0);u(()=>{let o=new AbortController;return r(l=>({...l,isLoading:!0})),e(o.signal).then(l=>{o.signal.aborted||r({value:l,error:null,isLoading:!1})},l=>{o.signal.aborted||l instanceof g||r(b=>({...b,error:l,isLoading:!1}))}),()=>o.abort()},[...n,s]);let d=m(()=>f(o=>o+1),[]),p=m(o=>r({value:o,error:null,isLoading:!1}),[]);return{...a,reload:d,setValue:p}}function K(){let[e,n]=i({isRunning:!1,error:null}),a=c(!1),r=m(f=>{a.current||(a.current=!0,n({isRunning:!0,error:null}),f().then(()=>n({isRunning:!1,error:null}),d=>n({isRunning:!1,error:d instanceof g?null:d})).finally(()=>a.current=!1))},[]),s=m(()=>n({isRunning:!1,error:null}),[]);return{...e,run:r,reset:s}}function V(e){let[n,a]=i(e.status);return u(()=>(a(e.status),e.subscribe(r=>{r.kind==="status"&&a(e.status)})),[e]),n}function H(e,n){let[a,r]=i(e);return u(()=>{let s=setTimeout(()=>r(e),n);return()=>clearTimeout(s)},[e,n]),a}var E={unauthorized:"Sign in again.",forbidden:"Ask an owner for the role that this needs.",archived:"An owner can unarchive it.",deleted:"An owner can undelete it within 30 days.","precondition-failed":"Somebody else changed it. Check it, then try again."};function k(e){if(e instanceof P)return"The stack does not respond. Check the network, then try again.";if(e instanceof z)return`The stack sent a reply that this page does not understand: ${e.message}.`;if(e instanceof T){let n=E[e.problem];return n===void 0?h(e.detail):`${h(e.detail)} ${n}`}return h(e instanceof Error?e.message:String(e))}function h(e){let n=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?]$/.test(n)?n:`${n}.`}var B=`
.panel-frame { display: flex; flex-direction: column; block-size: 100%; min-block-size: 0; font: inherit; }
.panel-head { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; padding: 0.5rem 0.75rem; border-block-end: 1px solid var(--panel-line); }
.panel-head h2 { margin: 0; font-size: 1.05rem; }
.panel-close { inline-size: 2rem; block-size: 2rem; padding: 0; }
.panel-body { flex: 1; min-block-size: 0; overflow: auto; padding: 0.75rem; overflow-wrap: anywhere; }
.panel-frame { --panel-line: light-dark(#d5dae0, #3a424b); --panel-soft: light-dark(#eef2f6, #262c33); --panel-accent: light-dark(#0b5cad, #7cb8f5); --panel-bad: light-dark(#a3161c, #ff9d9d); --panel-good: light-dark(#17632d, #8fdca6); --panel-dim: light-dark(#56606b, #a9b3be); }
.panel-frame h3 { margin: 1rem 0 0.4rem; font-size: 0.95rem; }
.panel-frame h3:first-child { margin-block-start: 0; }
.panel-frame p { margin: 0.35rem 0; }
.panel-frame button, .panel-frame input, .panel-frame select { font: inherit; min-block-size: 2rem; box-sizing: border-box; max-inline-size: 100%; }
.panel-frame button { padding: 0.15rem 0.7rem; border: 1px solid var(--panel-line); border-radius: 0.3rem; background: var(--panel-soft); color: inherit; cursor: pointer; }
.panel-frame button:disabled { cursor: default; opacity: 0.55; }
.panel-frame button.primary { background: light-dark(#0b5cad, #1b6ec2); border-color: transparent; color: #fff; }
.panel-frame button.danger { background: #a3161c; border-color: transparent; color: #fff; }
.panel-frame input, .panel-frame select { padding: 0.15rem 0.4rem; border: 1px solid light-dark(#87919c, #6b7681); border-radius: 0.3rem; background: light-dark(#fff, #1a1f24); color: inherit; }
.panel-frame :is(button, input, select, [tabindex]):focus-visible { outline: 2px solid var(--panel-accent); outline-offset: 1px; }
.panel-muted { color: var(--panel-dim); }
.panel-muted:empty { display: none; }
.panel-note { padding: 0.4rem 0.6rem; border-inline-start: 3px solid var(--panel-accent); background: var(--panel-soft); }
.panel-problem { color: var(--panel-bad); }
.panel-done { color: var(--panel-good); }
.panel-done:empty { display: none; }
.panel-row, .panel-confirm, .panel-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem; }
.panel-row { padding: 0.35rem 0; border-block-end: 1px solid var(--panel-line); }
.panel-row > .panel-grow { flex: 1 1 9rem; }
.panel-actions { margin-block: 0.5rem; }
.panel-list { list-style: none; margin: 0; padding: 0; }
.panel-form { display: grid; gap: 0.5rem; }
.panel-form label { display: grid; gap: 0.15rem; }
.panel-pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem; }
.panel-small { font-size: 0.85rem; color: var(--panel-dim); }
.panel-address { inline-size: 100%; }
.panel-entry { display: block; inline-size: 100%; text-align: start; white-space: normal; block-size: auto; }
.panel-frame button.panel-entry { background: none; border-color: transparent; border-radius: 0.3rem; padding: 0.35rem 0.5rem; }
.panel-frame button.panel-entry:hover { background: var(--panel-soft); }
.panel-frame button.panel-entry[aria-pressed="true"] { background: var(--panel-soft); border-color: var(--panel-accent); }
.panel-old { color: var(--panel-bad); text-decoration: line-through; }
.panel-new { color: var(--panel-good); }
.panel-table { inline-size: 100%; border-collapse: collapse; }
.panel-table :is(th, td) { text-align: start; vertical-align: top; padding: 0.25rem 0.3rem; border-block-end: 1px solid var(--panel-line); font-weight: normal; }
.panel-table thead th { font-weight: 600; }
.panel-track { position: relative; block-size: 2.5rem; margin-block: 0.5rem; border-radius: 0.3rem; background: var(--panel-soft); touch-action: none; cursor: pointer; }
.panel-track canvas { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; }
.panel-frame progress { inline-size: 100%; }
`,L=!1;function R(){w(()=>{if(L)return;L=!0;let e=new CSSStyleSheet;e.replaceSync(B),document.adoptedStyleSheets=[...document.adoptedStyleSheets,e]},[])}function Q({title:e,close:n,children:a}){return R(),t("div",{class:"panel-frame",children:[t("header",{class:"panel-head",children:[t("h2",{children:e}),t("button",{type:"button",class:"panel-close","aria-label":`Close ${e}`,onClick:n,children:"✕"})]}),t("div",{class:"panel-body",children:a})]})}function W({isLoading:e,error:n,retry:a}){return t(S,{children:[t("p",{class:"panel-muted",role:"status",children:e?"Loading…":""}),n!==null&&!e?t("div",{class:"panel-problem",role:"alert",children:[t("p",{children:k(n)}),t("button",{type:"button",onClick:a,children:"Try again"})]}):null]})}function X({error:e}){return e===null?null:t("p",{class:"panel-problem",role:"alert",children:k(e)})}function Z({children:e}){return t("div",{class:"panel-done",role:"status",children:e})}function _({isOnline:e}){return e?null:t("p",{class:"panel-note",role:"status",children:"You are offline. This panel shows what was loaded before, and needs the network to change anything."})}function ee({label:e,name:n,question:a,action:r,isDisabled:s=!1,isDangerous:f=!0,confirm:d}){let[p,o]=i(!1),l=c(null),b=c(null),y=c(!1),v=C();u(()=>{p?b.current?.focus():y.current&&l.current?.focus(),y.current=p},[p]);let A=x=>{x.key==="Escape"&&(x.preventDefault(),o(!1))};return p?t("span",{class:"panel-confirm",role:"group","aria-labelledby":v,onKeyDown:A,children:[t("span",{id:v,children:a}),t("button",{ref:b,type:"button",onClick:()=>o(!1),children:"Cancel"}),t("button",{type:"button",class:f?"danger":"primary",onClick:()=>{o(!1),d()},children:r})]}):t("button",{ref:l,type:"button","aria-label":n,disabled:s,onClick:()=>o(!0),children:e})}export{O as a,K as b,V as c,H as d,h as e,Q as f,W as g,X as h,Z as i,_ as j,ee as k};
