import scrapy


class Statuses(scrapy.Spider):
    name = "statuses"
    custom_settings = {"RETRY_TIMES": 0}

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/links")

    def parse(self, response):
        yield from response.follow_all(
            css="a",
            callback=self.parse_page,
            meta={"handle_httpstatus_list": [404]},
            errback=self.on_failure,
        )

    def parse_page(self, response):
        yield {"url": response.url, "status": response.status, "title": response.css("h1::text").get()}

    def on_failure(self, failure):
        response = failure.value.response
        yield {"url": response.url, "status": response.status, "failed": True}
