// The tabs beside the board.

import { $ } from "./dom.js";

const TABS = ["analysis", "explore", "learn"];

/** Connects the tabs; `onShow` is called with the name of the tab that is shown. */
export function startTabs(onShow) {
  const show = (name, focus = false) => {
    for (const each of TABS) {
      const tab = $(`tab-${each}`);
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      $(`panel-${each}`).hidden = each !== name;
    }
    if (focus) $(`tab-${name}`).focus();
    onShow(name);
  };
  TABS.forEach((name, index) => {
    $(`tab-${name}`).addEventListener("click", () => show(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!direction) return;
      event.preventDefault();
      show(TABS[(index + direction + TABS.length) % TABS.length], true);
    });
  });
}
