let brush: CanvasRenderingContext2D | null = null;

/** Returns the width of a text in an element's font, without a layout. */
export function textWidth(text: string, element: HTMLElement): number {
  brush ??= document.createElement("canvas").getContext("2d");
  if (!brush) return text.length * 7;
  const { fontSize, fontFamily } = getComputedStyle(element);
  brush.font = `${fontSize} ${fontFamily}`;
  return brush.measureText(text).width;
}
