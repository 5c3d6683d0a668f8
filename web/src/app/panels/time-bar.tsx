/** The bar of the time slider: a tick for each entry, and a handle at the shown one. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { positionText } from "../../data/position";
import { indexAfterKey, nearestEntry, placesOf, type TimelineEntry } from "./timeline";
import { dateTimeText } from "../times";

interface TimeBarProps {
  /** Oldest first, at least one. */
  entries: readonly TimelineEntry[];
  index: number;
  choose: (index: number) => void;
}

const MARGIN = 8;

export function TimeBar({ entries, index, choose }: TimeBarProps) {
  const track = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const places = useMemo(() => placesOf(entries), [entries]);
  useLayoutEffect(() => {
    const draw = () => {
      if (track.current !== null && canvas.current !== null) drawBar(canvas.current, track.current, places, index);
    };
    draw();
    if (track.current === null) return;
    const observer = new ResizeObserver(draw);
    observer.observe(track.current);
    return () => observer.disconnect();
  }, [places, index]);
  const chooseAt = (event: PointerEvent) => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    choose(nearestEntry(places, (event.clientX - left - MARGIN) / Math.max(width - 2 * MARGIN, 1)));
  };
  const handleDown = (event: PointerEvent) => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    chooseAt(event);
  };
  const handleMove = (event: PointerEvent) => {
    if ((event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) chooseAt(event);
  };
  const handleKey = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, index, entries.length);
    if (next === null) return;
    event.preventDefault();
    choose(next);
  };
  const entry = entries[index];
  const isNewest = index === entries.length - 1;
  const text = entry === undefined ? "" : `${isNewest ? "now, " : ""}${dateTimeText(entry.createdS)}, ${positionText(entry.position)}, ${entry.author}: ${entry.text}`;
  return (
    <div
      ref={track}
      class="panel-track"
      role="slider"
      tabIndex={0}
      aria-label="Shown state"
      aria-valuemin={0}
      aria-valuemax={entries.length - 1}
      aria-valuenow={index}
      aria-valuetext={text}
      onPointerDown={handleDown}
      onPointerMove={handleMove}
      onKeyDown={handleKey}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

function drawBar(canvas: HTMLCanvasElement, track: HTMLElement, places: readonly number[], index: number): void {
  const context = canvas.getContext("2d");
  const { clientWidth: width, clientHeight: height } = track;
  if (context === null || width === 0) return;
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  context.scale(scale, scale);
  const { color } = getComputedStyle(track);
  const x = (place: number) => MARGIN + place * (width - 2 * MARGIN);
  context.fillStyle = color;
  context.globalAlpha = 0.45;
  // Many entries share a pixel, which is drawn once.
  const pixels = new Set(places.map((place) => Math.round(x(place))));
  for (const pixel of pixels) context.fillRect(pixel - 0.5, height * 0.3, 1, height * 0.4);
  context.globalAlpha = 1;
  const at = x(places[index] ?? 1);
  context.fillRect(at - 1.5, 3, 3, height - 6);
  context.beginPath();
  context.arc(at, height / 2, 6, 0, 2 * Math.PI);
  context.fill();
}
