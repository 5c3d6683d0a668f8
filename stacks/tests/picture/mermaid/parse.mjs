// Reads a list of pictures from stdin, and prints what the parser of Mermaid finds in each.
import { readFileSync } from 'node:fs';
import { parseHTML } from 'linkedom';

// Mermaid removes scripts from labels, for which it needs a document.
const { window } = parseHTML('<!doctype html><html><body></body></html>');
Object.assign(globalThis, { window, document: window.document, Element: window.Element });
const { default: mermaid } = await import('mermaid');

// Mermaid hides entity codes from its parser.
const label = (text) =>
  text.replaceAll('ﬂ°°', '#').replaceAll('ﬂ°', '#').replaceAll('¶ß', ';').replaceAll('<br>', ' ');

const read = async (picture) => {
  await mermaid.parse(picture);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(picture);
  const nodes = [...db.getVertices().values()];
  return {
    nodes: Object.fromEntries(nodes.map((node) => [node.id, label(node.text)])),
    classes: Object.fromEntries(
      nodes.filter((node) => node.classes.length > 0).map((node) => [node.id, node.classes.join()]),
    ),
    styles: [...db.getClasses().keys()],
    groups: db.getSubGraphs().map((group) => [group.title, group.nodes.toSorted()]),
    arrows: db.getEdges().map((edge) => [edge.start, label(edge.text), edge.end]),
    colouredArrows: db.getEdges().flatMap((edge, index) => (edge.style?.length > 0 ? [index] : [])),
  };
};

const pictures = JSON.parse(readFileSync(0, 'utf8'));
const found = [];
for (const picture of pictures) {
  found.push(await read(picture).catch((error) => ({ error: String(error) })));
}
console.log(JSON.stringify(found));
