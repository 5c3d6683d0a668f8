/** Creates an element. Text is set as text: contents of cells never become HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Moves an element by a transform, which needs no layout of the others. */
export function moveTo(element: HTMLElement, x: number, y: number): void {
  const transform = `translate(${x}px,${y}px)`;
  if (element.style.transform !== transform) element.style.transform = transform;
}

export function resize(element: HTMLElement, width: number, height: number): void {
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
}

export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: HTMLElement, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Sets properties again that a page set before it loaded the script that defines the element. */
export function takeEarlyProperties(element: HTMLElement, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const value: unknown = Reflect.get(element, name);
    Reflect.deleteProperty(element, name);
    Reflect.set(element, name, value);
  }
}
