/** Chooses the screen for the route and the session. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { ProblemScreen } from "./problem-screen";
import type { SheetRoute } from "./routes";
import { askSiblingTabs, personOf } from "./session";
import { SheetScreen } from "./sheet/sheet-screen";
import { accessOfLink, accessOfUser } from "./stack-access";
import { UpdateOffer } from "./update";
import { useModule, useRoute, useSession } from "./ui/hooks";

const loadList = () => import("./list/list-screen");
const loadSignIn = () => import("./login/sign-in-screen");
const loadCallback = () => import("./login/callback-screen");

export function App() {
  return (
    <>
      <Screen />
      <UpdateOffer />
    </>
  );
}

function Screen() {
  const route = useRoute();
  if (new URLSearchParams(location.search).has("state")) return <CallbackScreen />;
  if (route.kind === "unknown") return <ProblemScreen title="This address does not work" detail={route.reason} actions={["list"]} />;
  if (route.kind === "sheet" && route.link !== undefined) return <LinkedSheet key={`${route.id} ${route.link}`} route={route} />;
  return <UserScreen route={route.kind === "sheet" ? route : null} />;
}

function LinkedSheet({ route }: { route: SheetRoute }) {
  const access = useMemo(() => accessOfLink(route), [route.id, route.link]);
  return access && <SheetScreen key={route.id} route={route} access={access} />;
}

/** A screen that needs the user's token. The route stays while the user signs in. */
function UserScreen({ route }: { route: SheetRoute | null }) {
  const { credentials } = useSession();
  const isAsking = useSiblingSession(credentials === null);
  const person = credentials === null ? null : personOf(credentials);
  // Another person must not send the edits of this one.
  const access = useMemo(() => (person === null ? null : accessOfUser()), [person]);
  if (access === null) return isAsking ? null : <SignInScreen />;
  if (route === null) return <ListScreen key={person} access={access} />;
  return <SheetScreen key={`${person} ${route.id}`} route={route} access={access} />;
}

/** Asks other tabs for their session. Returns whether an answer may still come. */
function useSiblingSession(isNeeded: boolean): boolean {
  const [isAsking, setAsking] = useState(true);
  useEffect(() => {
    if (isNeeded) void askSiblingTabs().then(() => setAsking(false));
    else setAsking(false);
  }, [isNeeded]);
  return isAsking;
}

function ListScreen(props: { access: ReturnType<typeof accessOfUser> }) {
  const module = useModule(loadList);
  return module && <module.default {...props} />;
}

function SignInScreen() {
  const module = useModule(loadSignIn);
  return module && <module.default />;
}

function CallbackScreen() {
  const module = useModule(loadCallback);
  return module && <module.default />;
}
