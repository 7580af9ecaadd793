// What the pages have in common: a form for the token, and a list of what is unread.

const byId = (id) => document.getElementById(id);

/**
 * Follows a feed once the form is sent.
 *
 * `open` makes the feed: an object with `read(body)`, which marks as `POST /v1/notifications/read` does. It calls
 * `on(event, data)` for each event and `state(text)` for what there is to say.
 */
export function start(open) {
  const items = new Map();          // by messageServerId, in the order of arrival
  const options = new URLSearchParams(location.search);
  let feed;

  /** How often each came. A test reads it, to see that nothing came twice. */
  globalThis.received = [];

  function show(notification) {
    const id = notification.messageServerId;
    const item = items.get(id) ?? document.createElement("li");
    const from = document.createElement("small"), text = document.createElement("span"), done = document.createElement("button");
    from.textContent = `${notification.fromAccount ?? "-"} ${new Date(notification.time).toLocaleTimeString("en-GB")}`;
    // As text: what others wrote is never markup.
    text.textContent = notification.body ?? JSON.stringify(notification.attach ?? {});
    done.textContent = "Read";
    done.onclick = () => mark({ items: [{ messageServerId: id }] }, (one) => one === id);
    item.replaceChildren(from, text, done);
    items.set(id, item);
    byId("list").append(item);
    byId("read").hidden = false;
  }

  function hide(isGone) {
    for (const [id, item] of items) {
      if (isGone(id)) { item.remove(); items.delete(id); }
    }
    byId("read").hidden = items.size === 0;
  }

  async function mark(body, isGone) {
    try {
      await feed.read(body);
      hide(isGone);
    } catch (error) {
      state(error.message);
    }
  }

  function state(text) { byId("state").textContent = text; }

  const upTo = (last) => (id) => BigInt(id) <= BigInt(last);

  function on(event, data) {
    if (event === "notification") globalThis.received.push(data.messageServerId);
    if (event === "notification" || event === "updated") show(data);
    else if (event === "read") hide(data.upTo ? upTo(data.upTo) : (id) => data.messageServerIds.includes(id));
    else if (event === "retracted") hide((id) => id === data.messageServerId);
    else if (event === "preferences") hide(() => true);
    else if (event === "gap") state("Something older than the server keeps was dropped.");
  }

  byId("read").onclick = () => {
    const last = [...items.keys()].reduce((a, b) => (BigInt(a) > BigInt(b) ? a : b));
    return mark({ upTo: last }, upTo(last));
  };
  byId("entry").onsubmit = (event) => {
    event.preventDefault();
    byId("entry").hidden = true;
    feed = open({
      broker: options.get("broker") ?? "http://127.0.0.1:8080", by: options.get("by") ?? "ticket",
      token: byId("token").value.trim(), on, state,
    });
    byId("token").value = "";
  };
}
