# A crawl inside a program: python3 app.py https://quotes.toscrape.com/
import json
import os
import sys

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess


class Quotes(scrapy.Spider):
    name = "quotes"

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
            }
        yield from response.follow_all(css="li.next a", callback=self.parse)


authors = {}


def on_item(item):
    authors[item["author"]] = authors.get(item["author"], 0) + 1


process = CrawlerProcess({"DOWNLOAD_DELAY": float(os.environ.get("DELAY", 0.5)), "LOG_LEVEL": "ERROR"})
crawler = process.create_crawler(Quotes)
crawler.signals.connect(on_item, signal=signals.item_scraped)
process.crawl(crawler, start_urls=[sys.argv[1]])
process.start()
stats = crawler.stats.get_stats()
print(json.dumps({"reason": stats["finish_reason"], "items": stats["item_scraped_count"], "authors": authors}))
