"""Half a crawl of real Scrapy, whose pending requests are put into Redis as Scrapy-Redis puts them: a ZSET of pickles.

    python3 fill_queue.py SITE REDIS_URL [whole]

It prints the items so far as JSON lines. With `whole` it crawls to the end and leaves no request. Needs Debian's
python3-scrapy and python3-redis.
"""

import json
import pickle
import sys

import redis
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

site, store, *mode = sys.argv[1:]
server = redis.from_url(store)
is_whole = mode == ["whole"]


class Queued(IgnoreRequest):
    pass


class Shop(CrawlSpider):
    name = "shop"
    start_urls = [f"{site}/shop", f"{site}/links"]
    rules = [
        Rule(LinkExtractor(allow="/category/")),
        Rule(LinkExtractor(allow="/product/"), callback="parse_product"),
    ]

    def parse_start_url(self, response):
        own = {"headers": {"X-Own": "1"}, "cookies": {"session": "me"}, "errback": self.on_gone, "priority": 5}
        if response.url.endswith("/links"):
            yield scrapy.Request(f"{site}/account", self.parse_account, cb_kwargs={"who": "me"}, **own)
            yield scrapy.Request(f"{site}/gone", self.parse_account, errback=self.on_gone, dont_filter=True)
            yield scrapy.FormRequest(
                f"{site}/api/search",
                self.parse_found,
                method="POST",
                body=json.dumps({"query": "wall"}),
            )

    def parse_product(self, response):
        yield {"name": response.css("h1::text").get()}

    def parse_account(self, response, who=None):
        yield {"secret": response.css("p.secret::text").get(), "who": who}

    def parse_found(self, response):
        for found in response.json()["results"]:
            yield {"found": found["name"]}

    def on_gone(self, failure):
        if not failure.check(Queued):
            yield {"gone": failure.request.url}


class Queueing:
    """Puts into Redis what is not a start page or the first category, in place of downloading it."""

    def process_request(self, request, spider):
        if is_whole or request.meta.get("depth", 0) == 0 or request.url.endswith("/category/desk"):
            return None
        data = pickle.dumps(request.to_dict(spider=spider), protocol=-1)
        server.zadd("shop:requests", {data: -request.priority})
        raise Queued


def on_item(item):
    print(json.dumps(item, sort_keys=True), flush=True)


settings = {"LOG_LEVEL": "CRITICAL", "DOWNLOADER_MIDDLEWARES": {Queueing: 1}}
process = CrawlerProcess(settings)
crawler = process.create_crawler(Shop)
crawler.signals.connect(on_item, signal=scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
