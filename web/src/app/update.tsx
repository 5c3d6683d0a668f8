/** Registers the service worker, and offers a new build of the page. */

import { useEffect, useState } from "preact/hooks";

const CHECK_INTERVAL_MS = 3_600_000;
/** Starting a worker that fills its cache would delay the first cells. */
const REGISTER_DELAY_MS = 1_000;

/** Shows an offer when a new build is ready. The page keeps its build until the user accepts it. */
export function UpdateOffer() {
  const [waiting, setWaiting] = useState<ServiceWorker | null>(null);
  useEffect(() => watchForUpdates(setWaiting), []);
  if (waiting === null) return null;
  const accept = () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    waiting.postMessage("activate");
  };
  return (
    <div class="toast" role="status">
      <span>A new version of this page is ready.</span>
      <button type="button" class="primary" onClick={accept}>Load it</button>
      <button type="button" class="quiet" onClick={() => setWaiting(null)}>Later</button>
    </div>
  );
}

function watchForUpdates(onWaiting: (worker: ServiceWorker) => void): () => void {
  // Without a secure context, or in a private window, the page works without a service worker.
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  let timer: ReturnType<typeof setInterval> | undefined;
  const watch = (registration: ServiceWorkerRegistration) => {
    const offer = () => {
      if (registration.waiting !== null && serviceWorker?.controller !== null) onWaiting(registration.waiting);
    };
    offer();
    registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", offer));
    timer = setInterval(() => void registration.update().catch(() => undefined), CHECK_INTERVAL_MS);
  };
  const register = () => void serviceWorker?.register("sw.js").then(watch).catch(() => undefined);
  const start = setTimeout(register, REGISTER_DELAY_MS);
  return () => {
    clearTimeout(start);
    clearInterval(timer);
  };
}
