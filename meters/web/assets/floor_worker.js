/* The service worker that shows notifications on phones. It handles no requests. A touch on a
   notification shows the floor page. */

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    const page = pages.find(({ url }) => new URL(url).pathname === "/floor");
    await (page ? page.focus() : self.clients.openWindow("/floor"));
  })());
});
