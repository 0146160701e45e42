import scrapy


class InfiniteScroll(scrapy.Spider):
    name = "infinite-scroll"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/api/quotes?page=1")

    def parse(self, response):
        page = response.json()
        for quote in page["quotes"]:
            yield {"text": quote["text"], "author": quote["author"]}
        if page["has_next"]:
            yield response.follow(f"?page={page['page'] + 1}", self.parse)
