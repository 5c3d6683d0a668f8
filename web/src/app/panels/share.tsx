/** Members and share links: who may read and edit the spreadsheet. */

import { readSharing } from "../../stack/sharing";
import { useLoaded, useStatus } from "./hooks";
import { LoadState, OfflineNote, PanelFrame } from "./parts";
import type { PanelProps } from "./props";
import { Links } from "./share-links";
import { Members } from "./share-members";

export default function SharePanel({ stack, spreadsheet, source, close }: PanelProps) {
  const { value, error, isLoading, reload, setValue } = useLoaded(
    (signal) => readSharing(stack, spreadsheet, signal),
    [stack, spreadsheet],
  );
  const { isOnline } = useStatus(source);
  const isOwner = value?.role === "owner";
  return (
    <PanelFrame title="Share" close={close}>
      <OfflineNote isOnline={isOnline} />
      <LoadState isLoading={isLoading && value === null} error={error} retry={reload} />
      {value === null ? null : (
        <>
          {isOwner ? null : <p class="panel-note">Your role is {value.role ?? "unknown"}. Only an owner can share this spreadsheet.</p>}
          <Members stack={stack} sharing={value} replace={setValue} isOwner={isOwner} />
          {isOwner ? <Links stack={stack} sharing={value} replace={setValue} reload={reload} /> : null}
        </>
      )}
    </PanelFrame>
  );
}
